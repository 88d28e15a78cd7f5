-- Requests with each key on each UTC day (days since 1970), and how many of them got an error. Kept for two months.
CREATE TABLE key_requests (
  key_id TEXT NOT NULL REFERENCES keys (id),
  day INTEGER NOT NULL,
  requests INTEGER NOT NULL CHECK (requests >= 1),
  errors INTEGER NOT NULL CHECK (errors BETWEEN 0 AND requests),
  PRIMARY KEY (key_id, day)
) STRICT, WITHOUT ROWID;
