-- The import from another panel that is running, and until when it counts as running: it renews this time while it works.
-- Null: none is running.
ALTER TABLE panel_import ADD COLUMN run_id TEXT CHECK (length(run_id) BETWEEN 1 AND 64);
ALTER TABLE panel_import ADD COLUMN run_until INTEGER;
