-- What administrators set for themselves: the time zone of the times that they see, and lists with filters by a name.
ALTER TABLE administrators ADD COLUMN time_zone TEXT CHECK (length(time_zone) BETWEEN 1 AND 64);

CREATE TABLE saved_views (
  administrator TEXT NOT NULL REFERENCES administrators (name),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
  query TEXT NOT NULL CHECK (length(query) BETWEEN 1 AND 2000),
  PRIMARY KEY (administrator, name)
) STRICT, WITHOUT ROWID;
