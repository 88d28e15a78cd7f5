-- Administrators who see the portal as members of a reseller see it ("View as"). First a link is offered; once it was used,
-- the row is a session that can change nothing. Rows are deleted when it ends.
CREATE TABLE inspections (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) >= 16),
  token_hash TEXT UNIQUE CHECK (length(token_hash) = 64),
  hash TEXT CHECK (length(hash) = 64),
  account INTEGER NOT NULL REFERENCES users (account),
  role TEXT NOT NULL CHECK (role IN ('viewer', 'developer', 'buyer', 'owner')),
  administrator TEXT NOT NULL REFERENCES administrators (name),
  -- The administrator's session in the panel. It may have ended.
  session TEXT NOT NULL UNIQUE,
  panel_url TEXT NOT NULL CHECK (length(panel_url) <= 500),
  created_at INTEGER NOT NULL,
  opened_at INTEGER,
  CHECK ((token_hash IS NULL) = (hash IS NOT NULL)),
  CHECK ((hash IS NULL) = (opened_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX members_by_age ON members (created_at);
