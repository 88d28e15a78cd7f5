-- Submissions to a provider wait: after too many unknown outcomes in a row, or because the operator says so.

-- Since its last answer that said whether it took an order.
ALTER TABLE providers ADD COLUMN unknown_in_row integer NOT NULL DEFAULT 0 CHECK (unknown_in_row >= 0);
-- Null: they do not wait.
ALTER TABLE providers ADD COLUMN paused_at bigint;
ALTER TABLE providers ADD COLUMN paused_by text COLLATE "C" CHECK (
  (paused_by IS NULL) = (paused_at IS NULL) AND (paused_by = 'unknown' OR paused_by = 'operator' OR paused_by IS NULL)
);
-- How often our balance was asked for because of that: the more often, the longer the pause before the next time.
ALTER TABLE providers ADD COLUMN pause_asks integer NOT NULL DEFAULT 0 CHECK (pause_asks >= 0);
