-- The order in which categories are listed, as the operator set it. Categories that are not here follow by name.
CREATE TABLE category_order (
  category text COLLATE "C" PRIMARY KEY CHECK (length(category) >= 1),
  position bigint NOT NULL CHECK (position >= 1)
);

-- Resellers' panels list services in this order.
CREATE TRIGGER category_order_changed AFTER INSERT OR UPDATE OR DELETE ON category_order FOR EACH ROW
EXECUTE FUNCTION catalogue_changed();
