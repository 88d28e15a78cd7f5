-- The processes that serve this database, from their start to their end. SQLite has one at a time, by the lock of its
-- data directory, which needs no lease: the table is PostgreSQL's, and empty here.
CREATE TABLE servers (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 24),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  started_at INTEGER NOT NULL,
  lease_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The server that makes an attempt; null: one of an earlier version, or none. While it has no outcome and that server is
-- gone, nobody knows whether the order was sent.
ALTER TABLE placement_attempts ADD COLUMN server TEXT;

CREATE TRIGGER placement_attempts_keep_server BEFORE UPDATE OF server ON placement_attempts
BEGIN SELECT RAISE(ABORT, 'an attempt keeps its server'); END;
