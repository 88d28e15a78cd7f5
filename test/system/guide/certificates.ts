// Whether every program that has a certificate of the guide uses the one that lies on its machine.

import { type Machines, soon } from "../../support/machines.ts";

const SERVED = [
  { program: "PostgreSQL", port: 5432, option: "-starttls postgres" },
  { program: "Patroni", port: 8008, option: "" },
  { program: "etcd", port: 2379, option: "" },
  { program: "pgBackRest", port: 8432, option: "" },
];
const FOLDER = "/etc/ssl/reseller";
const RELOAD_LIMIT_MS = 30_000;

/** Resolves once all on these machines do. */
export async function certificatesInUse(
  machines: Machines,
  names: readonly string[],
): Promise<void> {
  for (const name of names) {
    const own = machines.run(name, `openssl x509 -noout -serial -in ${FOLDER}/node.crt`);
    for (const { program, port, option } of SERVED) {
      const files = `-CAfile ${FOLDER}/ca.crt -cert ${FOLDER}/node.crt -key ${FOLDER}/node.key`;
      const ask = `openssl s_client -connect ${name}:${port} ${option} -verify_return_error ${files}`;
      await soon(
        `${program} of ${name} has the new certificate`,
        () =>
          machines.try(name, `${ask} </dev/null | openssl x509 -noout -serial`).stdout === own ||
          null,
        RELOAD_LIMIT_MS,
      );
    }
  }
}
