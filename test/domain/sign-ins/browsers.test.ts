// The browser and the system that a User-Agent header names.

import { expect, test } from "bun:test";
import { browserText } from "../../../src/domain/sign-ins/browsers.ts";

const WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)";
const CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36";

test.each([
  [`${WINDOWS} ${CHROME}`, "Chrome, Windows"],
  [`${WINDOWS} ${CHROME} Edg/148.0.0.0`, "Edge, Windows"],
  [`${WINDOWS} ${CHROME} OPR/120.0.0.0`, "Opera, Windows"],
  [`${WINDOWS} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 YaBrowser/26.4 Safari/537.36`, "Yandex Browser, Windows"],
  [`${WINDOWS.slice(0, -1)}; rv:150.0) Gecko/20100101 Firefox/150.0`, "Firefox, Windows"],
  [`Mozilla/5.0 (X11; Linux x86_64) ${CHROME}`, "Chrome, Linux"],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${CHROME}`, "Chrome, ChromeOS"],
  [`Mozilla/5.0 (Linux; Android 10; K) ${CHROME.replace("Safari", "Mobile Safari")}`, "Chrome, Android"],
  ["Mozilla/5.0 (Linux; Android 13; SM-S901B) AppleWebKit/537.36 SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36", "Samsung Internet, Android"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Safari/605.1.15", "Safari, macOS"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1", "Safari, iOS"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 CriOS/148.0 Mobile/15E148 Safari/604.1", "Chrome, iOS"],
  ["curl/8.7.1", "curl/8.7.1"],
  ["", ""],
])("%p is shown as %p", (userAgent, text) => {
  expect(browserText(userAgent)).toBe(text);
}); // prettier-ignore
