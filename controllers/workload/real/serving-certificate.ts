// The certificate that a server shows, without trusting it. Source: spec/controllers/workload-cluster.md section 6.
import type { Duplex } from "node:stream";
import { connect } from "node:tls";

const HANDSHAKE_LIMIT_MS = 15_000;

/** End of validity of the certificate with this common name, milliseconds since the epoch.
 *  @throws when the handshake fails or the server shows another certificate */
export function servingCertificateExpiryMs(stream: Duplex, commonName: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ socket: stream, rejectUnauthorized: false });
    const end = (finish: () => void): void => {
      clearTimeout(limit);
      socket.destroy();
      stream.destroy();
      finish();
    };
    const limit = setTimeout(
      () => end(() => reject(new Error(`no TLS handshake within ${HANDSHAKE_LIMIT_MS / 1000} s`))),
      HANDSHAKE_LIMIT_MS,
    );
    socket.once("error", (e) => end(() => reject(e)));
    socket.once("secureConnect", () => {
      const certificate = socket.getPeerCertificate();
      const name = certificate.subject?.CN;
      end(() =>
        name === commonName
          ? resolve(Date.parse(certificate.valid_to))
          : reject(new Error(`the server shows a certificate for "${name ?? "nobody"}", ${commonName} was expected`)),
      );
    });
  });
}
