-- Keys that expire, keep to addresses and are replaced; who changed what.

-- Null: never. From that time on the key is refused.
ALTER TABLE keys ADD COLUMN expires_at INTEGER CHECK (expires_at >= created_at);

-- Networks in CIDR notation, separated by commas; empty: every address.
ALTER TABLE keys ADD COLUMN allow TEXT NOT NULL DEFAULT '';

-- Written at most once a minute.
ALTER TABLE keys ADD COLUMN last_used_at INTEGER;

-- The key that took this one's place; this one lives on until expires_at.
ALTER TABLE keys ADD COLUMN replaced_by TEXT REFERENCES keys (id);

-- Every change an operator or a key made, in the transaction of the change. `before` and `after` are JSON
-- objects of what differs; never a secret.
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY,
  created_at INTEGER NOT NULL,
  key_id TEXT REFERENCES keys (id),
  operator TEXT,
  action TEXT NOT NULL CHECK (length(action) >= 1),
  subject TEXT NOT NULL CHECK (length(subject) >= 1),
  -- The user whom the change concerns; null where it concerns all.
  account INTEGER REFERENCES users (account),
  before TEXT CHECK (json_type(before) = 'object'),
  after TEXT CHECK (json_type(after) = 'object'),
  CHECK ((key_id IS NULL) <> (operator IS NULL)),
  CHECK (before IS NOT NULL OR after IS NOT NULL)
) STRICT;

CREATE INDEX audit_by_account ON audit (account, seq) WHERE account IS NOT NULL;

CREATE TRIGGER audit_append_only_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_append_only_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
