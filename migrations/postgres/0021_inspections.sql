-- Administrators who see the portal as members of a reseller see it ("View as"). First a link is offered; once it was used,
-- the row is a session that can change nothing. Rows are deleted when it ends.
CREATE TABLE inspections (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) >= 16),
  token_hash text COLLATE "C" UNIQUE CHECK (length(token_hash) = 64),
  hash text COLLATE "C" CHECK (length(hash) = 64),
  account bigint NOT NULL REFERENCES users (account),
  role text COLLATE "C" NOT NULL CHECK (role IN ('viewer', 'developer', 'buyer', 'owner')),
  administrator text COLLATE "C" NOT NULL REFERENCES administrators (name),
  -- The administrator's session in the panel. It may have ended.
  session text COLLATE "C" NOT NULL UNIQUE,
  panel_url text COLLATE "C" NOT NULL CHECK (length(panel_url) <= 500),
  created_at bigint NOT NULL,
  opened_at bigint,
  CHECK ((token_hash IS NULL) = (hash IS NOT NULL)),
  CHECK ((hash IS NULL) = (opened_at IS NULL))
);

CREATE INDEX members_by_age ON members (created_at);
