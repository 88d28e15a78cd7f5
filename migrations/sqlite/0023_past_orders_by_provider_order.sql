-- The panel's search finds past orders by their number at the provider, too.
CREATE INDEX past_orders_by_provider_order ON past_orders (provider_order) WHERE provider_order IS NOT NULL;
