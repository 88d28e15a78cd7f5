-- The failed orders that the operator sent again, each with the order that was placed for it.
CREATE TABLE resent_orders (
  order_id INTEGER PRIMARY KEY NOT NULL REFERENCES orders (order_id),
  resent_as INTEGER NOT NULL UNIQUE REFERENCES orders (order_id),
  CHECK (resent_as > order_id)
) STRICT;

CREATE TRIGGER resent_orders_are_kept BEFORE UPDATE ON resent_orders
BEGIN SELECT RAISE(ABORT, 'an order stays sent again'); END;

CREATE TRIGGER resent_orders_stay BEFORE DELETE ON resent_orders
BEGIN SELECT RAISE(ABORT, 'an order stays sent again'); END;

-- The operator may also correct the link of an order that no provider has yet: one that waits to be sent, or is
-- delivered by hand.
DROP TRIGGER orders_keep_link;
CREATE TRIGGER orders_keep_link BEFORE UPDATE OF link ON orders
WHEN NOT (
    (OLD.placement = 'queued' AND OLD.status = 'PENDING') OR (OLD.placement = 'manual' AND OLD.status = 'PROCESSING')
  ) AND (
    NEW.link <> 'erased' OR OLD.status IN ('PENDING', 'PROCESSING')
    OR (SELECT erased_at FROM users WHERE account = OLD.reseller_account) IS NULL
  )
BEGIN SELECT RAISE(ABORT, 'an order keeps the terms it was placed on'); END;
