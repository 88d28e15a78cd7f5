-- From where each administrator has signed in lately: what others try delays nobody there.
CREATE TABLE known_networks (
  administrator TEXT NOT NULL REFERENCES administrators (name),
  -- As in sign_in_attempts.
  network TEXT NOT NULL,
  signed_in_at INTEGER NOT NULL,
  PRIMARY KEY (administrator, network)
) STRICT, WITHOUT ROWID;

-- Wrong passwords and codes since the last right one: after too many the session ends.
ALTER TABLE panel_sessions ADD COLUMN failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0);
