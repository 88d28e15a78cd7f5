-- The order in which categories are listed, as the operator set it. Categories that are not here follow by name.
CREATE TABLE category_order (
  category TEXT PRIMARY KEY NOT NULL CHECK (length(category) >= 1),
  position INTEGER NOT NULL CHECK (position >= 1)
) STRICT, WITHOUT ROWID;

-- Resellers' panels list services in this order.
CREATE TRIGGER category_order_added AFTER INSERT ON category_order
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER category_order_changed AFTER UPDATE ON category_order
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER category_order_removed AFTER DELETE ON category_order
BEGIN UPDATE catalogue_version SET version = version + 1; END;
