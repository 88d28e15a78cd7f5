-- The text of an open alert follows what is wrong, and one that becomes much worse is told once more.

-- How bad it was when it was last told; 0: a kind without an amount.
ALTER TABLE alerts ADD COLUMN told_amount INTEGER NOT NULL DEFAULT 0 CHECK (told_amount >= 0);
-- When it was last told; null: when it was raised.
ALTER TABLE alerts ADD COLUMN told_at INTEGER;

DROP TRIGGER alerts_end_once;

CREATE TRIGGER alerts_end_once BEFORE UPDATE ON alerts
WHEN OLD.resolved_at IS NOT NULL OR NEW.kind <> OLD.kind OR NEW.subject <> OLD.subject OR NEW.raised_at <> OLD.raised_at
BEGIN SELECT RAISE(ABORT, 'an alert ends once, and keeps what it is about'); END;
