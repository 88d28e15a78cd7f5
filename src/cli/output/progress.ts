// Shows a progress line on stderr, on a terminal only.

export interface Progress {
  update(done: number): void;
  end(): void;
}

export function startProgress(what: string, total: number): Progress {
  if (!process.stderr.isTTY) return { update() {}, end() {} };
  return {
    update(done) {
      const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
      process.stderr.write(`\r${what} ${done}/${total} (${percent} %)`);
    },
    end() {
      process.stderr.write("\r\x1b[K");
    },
  };
}

/** Starts a progress line without a known total: it shows the number so far. `what` includes the unit. */
export function startCounter(what: string): Progress {
  if (!process.stderr.isTTY) return { update() {}, end() {} };
  return {
    update(done) {
      process.stderr.write(`\r${what} ${done}`);
    },
    end() {
      process.stderr.write("\r\x1b[K");
    },
  };
}
