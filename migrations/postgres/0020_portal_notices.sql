-- Notices of the operator on the first page of the portal. A row is deleted when it is removed, or after its end.
CREATE TABLE portal_notices (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 24),
  -- A text by language, as a JSON object.
  texts text COLLATE "C" NOT NULL CHECK (json_typeof(texts::json) = 'object'),
  -- NULL: until it is removed.
  until_at bigint,
  created_at bigint NOT NULL
);
