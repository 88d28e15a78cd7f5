-- What administrators set for themselves: the time zone of the times that they see, and lists with filters by a name.
ALTER TABLE administrators ADD COLUMN time_zone text CHECK (length(time_zone) BETWEEN 1 AND 64);

CREATE TABLE saved_views (
  administrator text COLLATE "C" NOT NULL REFERENCES administrators (name),
  name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
  query text NOT NULL CHECK (length(query) BETWEEN 1 AND 2000),
  PRIMARY KEY (administrator, name)
);
