-- Notices of the operator on the first page of the portal. A row is deleted when it is removed, or after its end.
CREATE TABLE portal_notices (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 24),
  -- A text by language, as a JSON object.
  texts TEXT NOT NULL CHECK (json_type(texts) = 'object'),
  -- NULL: until it is removed.
  until_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
