-- When a method's first genuine notice arrived. Null: none with the present secret.
ALTER TABLE payment_methods ADD COLUMN noticed_at bigint;
