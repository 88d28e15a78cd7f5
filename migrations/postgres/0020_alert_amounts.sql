-- The text of an open alert follows what is wrong, and one that becomes much worse is told once more.

-- How bad it was when it was last told; 0: a kind without an amount.
ALTER TABLE alerts ADD COLUMN told_amount bigint NOT NULL DEFAULT 0 CHECK (told_amount >= 0);
-- When it was last told; null: when it was raised.
ALTER TABLE alerts ADD COLUMN told_at bigint;

DROP TRIGGER alerts_end_once ON alerts;

CREATE TRIGGER alerts_end_once BEFORE UPDATE ON alerts FOR EACH ROW
WHEN (OLD.resolved_at IS NOT NULL OR NEW.kind <> OLD.kind OR NEW.subject <> OLD.subject OR NEW.raised_at <> OLD.raised_at)
EXECUTE FUNCTION refuse('an alert ends once, and keeps what it is about');
