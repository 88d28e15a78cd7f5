-- How long a service has run on this database, all runs together, by a monotonic clock: it grows no faster than real
-- time whatever the wall clock is set to, and stands still while no service runs. Counted on once a minute.
CREATE TABLE uptime (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  milliseconds INTEGER NOT NULL CHECK (milliseconds >= 0)
) STRICT;

INSERT INTO uptime (id, milliseconds) VALUES (1, 0);

CREATE TRIGGER uptime_only_grows BEFORE UPDATE ON uptime WHEN NEW.milliseconds < OLD.milliseconds
BEGIN SELECT RAISE(ABORT, 'uptime only grows'); END;

CREATE TRIGGER uptime_stays BEFORE DELETE ON uptime
BEGIN SELECT RAISE(ABORT, 'uptime only grows'); END;

-- The uptime when the key was used. The age of a used key is an uptime too: by created_at a clock that is corrected
-- would make all of them old at once. Those that are there already begin at 0 and are kept for a full term from now.
ALTER TABLE idempotency ADD COLUMN uptime INTEGER NOT NULL DEFAULT 0 CHECK (uptime >= 0);

DROP INDEX idempotency_by_age;
CREATE INDEX idempotency_by_age ON idempotency (uptime);

CREATE TRIGGER idempotency_keeps_its_age BEFORE UPDATE OF uptime ON idempotency
BEGIN SELECT RAISE(ABORT, 'a used key keeps its age'); END;

-- A key whose time has passed for certain: no clock that is put back revives it. Undone by activating it.
ALTER TABLE keys ADD COLUMN ended INTEGER NOT NULL DEFAULT 0 CHECK (ended IN (0, 1));
