-- What the last sync saw of the services that orders go to: whether their providers still list them, and whether they have a
-- drip-feed there.

-- Of the first route: its provider does not list it any more. The service is inactive for that only where no other route is left.
ALTER TABLE services ADD COLUMN route_delisted INTEGER NOT NULL DEFAULT 0 CHECK (route_delisted IN (0, 1));
-- Of a further one.
ALTER TABLE service_routes ADD COLUMN delisted INTEGER NOT NULL DEFAULT 0 CHECK (delisted IN (0, 1));

UPDATE services SET route_delisted = 1 WHERE vanished = 1;

CREATE INDEX services_route_delisted ON services (provider_id) WHERE route_delisted = 1;
CREATE INDEX service_routes_delisted ON service_routes (provider_id) WHERE delisted = 1;

-- Null: a sync of an earlier version wrote the row.
ALTER TABLE provider_rates ADD COLUMN dripfeed INTEGER CHECK (dripfeed IN (0, 1));
