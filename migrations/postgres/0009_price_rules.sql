-- How syncs price a provider's services: rounding, and markups of categories that differ from the provider's (JSON, by
-- the name of the category at the provider).
ALTER TABLE providers ADD COLUMN round_prices text COLLATE "C" NOT NULL DEFAULT 'none'
  CHECK (round_prices IN ('none', '0.0001', '0.001', '0.01', '0.1', '1', 'x.xx9', 'x.x9', 'x.99'));
ALTER TABLE providers ADD COLUMN category_markups text COLLATE "C" NOT NULL DEFAULT '{}'
  CHECK (length(category_markups) >= 2);
