-- The failed orders that the operator sent again, each with the order that was placed for it.
CREATE TABLE resent_orders (
  order_id bigint PRIMARY KEY REFERENCES orders (order_id),
  resent_as bigint NOT NULL UNIQUE REFERENCES orders (order_id),
  CHECK (resent_as > order_id)
);

CREATE TRIGGER resent_orders_are_kept BEFORE UPDATE ON resent_orders FOR EACH ROW
EXECUTE FUNCTION refuse('an order stays sent again');

CREATE TRIGGER resent_orders_stay BEFORE DELETE ON resent_orders FOR EACH ROW
EXECUTE FUNCTION refuse('an order stays sent again');

-- The operator may also correct the link of an order that no provider has yet: one that waits to be sent, or is
-- delivered by hand.
DROP TRIGGER orders_keep_link ON orders;
DROP TRIGGER orders_keep_link_unless_erased ON orders;
CREATE TRIGGER orders_keep_link BEFORE UPDATE OF link ON orders FOR EACH ROW
WHEN (NOT (
    (OLD.placement = 'queued' AND OLD.status = 'PENDING') OR (OLD.placement = 'manual' AND OLD.status = 'PROCESSING')
  ) AND (NEW.link <> 'erased' OR OLD.status IN ('PENDING', 'PROCESSING')))
EXECUTE FUNCTION refuse('an order keeps the terms it was placed on');
CREATE TRIGGER orders_keep_link_unless_erased BEFORE UPDATE OF link ON orders FOR EACH ROW
WHEN (OLD.status NOT IN ('PENDING', 'PROCESSING'))
EXECUTE FUNCTION orders_are_erased('an order keeps the terms it was placed on');
