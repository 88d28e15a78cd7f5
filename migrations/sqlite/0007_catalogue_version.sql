-- A number that grows with every change of what GET /services tells and whom it tells it: while it stays the same,
-- a list that was made holds. It grows in the transaction of the change, for any process may make one.
CREATE TABLE catalogue_version (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL
) STRICT;

INSERT INTO catalogue_version (id, version) VALUES (1, 1);

CREATE TRIGGER services_added AFTER INSERT ON services
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER services_changed AFTER UPDATE OF id, name, price_micros, min, max, active, private ON services
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER services_removed AFTER DELETE ON services
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER grants_added AFTER INSERT ON grants
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER grants_changed AFTER UPDATE OF service_id, reseller_account, price_micros ON grants
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER grants_removed AFTER DELETE ON grants
BEGIN UPDATE catalogue_version SET version = version + 1; END;
