-- Numbers that callers and operators were given are never given again. A restore goes back to an earlier state; what
-- was given out since is noted here, and the table of that name counts on above it.
CREATE TABLE number_floors (
  table_name TEXT PRIMARY KEY NOT NULL,
  floor INTEGER NOT NULL CHECK (floor BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER number_floors_only_rise BEFORE UPDATE ON number_floors
WHEN NEW.table_name <> OLD.table_name OR NEW.floor < OLD.floor
BEGIN SELECT RAISE(ABORT, 'a floor of numbers only rises'); END;

CREATE TRIGGER number_floors_are_kept BEFORE DELETE ON number_floors
BEGIN SELECT RAISE(ABORT, 'floors of numbers are never deleted'); END;
