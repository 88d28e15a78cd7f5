// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import { importedPage, pastOrderPage } from "./imported.tsx";
import {
  discardImport,
  keepFiles,
  movingInPage,
  planImport,
  receiveFiles,
  startImport,
  UPLOAD_PATH,
} from "./moving-in.tsx";

export const routes: readonly Route[] = [
  get("/imported", "support", importedPage),
  get("/imported/orders/:order", "support", pastOrderPage),
  get("/moving-in", "owner", movingInPage),
  { ...post(UPLOAD_PATH, "owner", keepFiles, "/moving-in"), read: receiveFiles },
  post("/moving-in/plan", "owner", planImport, "/moving-in"),
  post("/moving-in/start", "owner", startImport, "/moving-in"),
  post("/moving-in/discard", "owner", discardImport, "/moving-in"),
];
