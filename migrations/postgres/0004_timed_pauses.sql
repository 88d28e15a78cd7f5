-- When a pause by the operator ends by itself. Null: when the operator resumes the provider.
ALTER TABLE providers ADD COLUMN paused_until bigint CHECK (paused_until IS NULL OR paused_by = 'operator');
