-- Secrets of a webhook from before previous_secret, each with the time until which deliveries are signed with it too.
ALTER TABLE webhooks ADD COLUMN older_secrets text COLLATE "C" NOT NULL DEFAULT '[]' CHECK (length(older_secrets) >= 2);
