-- A deactivated user's keys are refused; the user, its balance and its orders stay.
ALTER TABLE users ADD COLUMN active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1));

-- What happened to one thing (the price history of a service), and what one operator did. Entries of keys are in the first
-- alone.
CREATE INDEX audit_by_subject ON audit (subject, seq);
CREATE INDEX audit_by_operator ON audit (operator, seq) WHERE operator IS NOT NULL;
