-- A deactivated user's keys are inactive; the user, its balance and its orders stay.
ALTER TABLE users ADD COLUMN active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1));

-- Inactive because its user is: it is active again once the user is.
ALTER TABLE keys ADD COLUMN suspended INTEGER NOT NULL DEFAULT 0
  CHECK (suspended IN (0, 1) AND (suspended = 0 OR active = 0));

-- What happened to one thing (the price history of a service), and what one operator did. Entries of keys are in the first
-- alone.
CREATE INDEX audit_by_subject ON audit (subject, seq);
CREATE INDEX audit_by_operator ON audit (operator, seq) WHERE operator IS NOT NULL;
