/**
 * A server whose certificate git does not trust: what can be done about it, which git does not say. Runners behind a company's
 * proxy often set NODE_EXTRA_CA_CERTS, which the other actions heed and git does not. docs/decisions/certificates.md.
 */
import { CheckoutError } from '../engine/errors.ts';

/** The words of curl with OpenSSL, GnuTLS, Secure Transport and Schannel. */
const UNTRUSTED =
  /SSL certificate problem|server certificate verification failed|certificate verify failed|SSL: no alternative certificate subject|certificate chain|SEC_E_UNTRUSTED_ROOT/i;

/** The error with a hint, where it is about a certificate; any other as it is. */
export function certificateHint(error: unknown, environment: Readonly<Record<string, string | undefined>>): unknown {
  if (!(error instanceof CheckoutError) || !UNTRUSTED.test(error.message)) return error;
  const extra = (environment['NODE_EXTRA_CA_CERTS'] ?? '') === '' ? '' : 'does not read NODE_EXTRA_CA_CERTS; it ';
  const hint = `git ${extra}trusts the authorities of the system, or in their place those of http.sslCAInfo or GIT_SSL_CAINFO`;
  return new CheckoutError(error.code, `${error.message}; ${hint}`, error.subject, error);
}
