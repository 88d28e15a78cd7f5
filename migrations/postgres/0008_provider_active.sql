-- One that was deactivated is given no orders; those that it has go on.
ALTER TABLE providers ADD COLUMN active smallint NOT NULL DEFAULT 1 CHECK (active IN (0, 1));
