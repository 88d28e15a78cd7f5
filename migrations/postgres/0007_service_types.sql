-- Services have a type: which fields their orders take besides the link, and how they are charged.

ALTER TABLE services ADD COLUMN type text COLLATE "C" NOT NULL DEFAULT 'default';
ALTER TABLE services ADD CHECK (
  type IN (
    'default', 'package', 'custom_comments', 'custom_comments_package', 'seo', 'mentions_with_hashtags',
    'mentions_custom_list', 'mentions_hashtag', 'mentions_user_followers', 'mentions_media_likers', 'comment_likes',
    'comment_replies', 'poll', 'invites_from_groups', 'web_traffic'
  )
  -- A package has one price, whatever is in it; what is counted is sold by units.
  AND (type = 'default' OR (type IN ('package', 'custom_comments_package')) = (per = 'order'))
);
ALTER TABLE services ADD COLUMN dripfeed smallint NOT NULL DEFAULT 0;
ALTER TABLE services ADD CHECK (dripfeed IN (0, 1) AND (dripfeed = 0 OR (type = 'default' AND per <> 'order')));
ALTER TABLE services ADD COLUMN type_by_hand smallint NOT NULL DEFAULT 0 CHECK (type_by_hand IN (0, 1));
ALTER TABLE services ADD COLUMN dripfeed_by_hand smallint NOT NULL DEFAULT 0 CHECK (dripfeed_by_hand IN (0, 1));

CREATE TRIGGER services_type_changed AFTER UPDATE OF type, dripfeed ON services
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

-- The type that the order was sold as and its fields, as JSON; null for an order of a link and a quantity alone.
ALTER TABLE orders ADD COLUMN extra text COLLATE "C" CHECK (extra IS NULL OR extra LIKE '{"type":"%}');

CREATE TRIGGER orders_keep_extra BEFORE UPDATE OF extra ON orders FOR EACH ROW
EXECUTE FUNCTION refuse('an order keeps the terms it was placed on');
