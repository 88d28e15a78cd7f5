// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import { mailsPage, retryMail } from "./mails.tsx";

export const routes: readonly Route[] = [
  get("/members/mails", "support", mailsPage),
  post("/members/mails/:mail/retry", "operator", retryMail, "/members/mails"),
];
