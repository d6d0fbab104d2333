/**
 * A certificate of our own for servers on 127.0.0.1, made when a test runs, so that no key lies in the repository and none
 * expires.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TestCertificate {
  readonly key: Buffer;
  readonly cert: Buffer;
  /** The certificate's file, which is also that of the authority that signed it. */
  readonly caFile: string;
}

/** Why no certificate can be made here, or null. */
export function whyNoCertificate(): string | null {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'there is no openssl';
  }
}

/** Makes one in `folder`, for 127.0.0.1 and localhost. */
export function makeCertificate(folder: string): TestCertificate {
  const [keyFile, caFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const names = 'subjectAltName=IP:127.0.0.1,DNS:localhost';
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-keyout', keyFile, '-out', caFile];
  // MSYS would take the subject for a path.
  const env = { ...process.env, MSYS_NO_PATHCONV: '1' };
  execFileSync('openssl', ['req', '-x509', ...curve, '-days', '2', '-subj', '/CN=a test', '-addext', names, ...files], {
    stdio: 'ignore',
    env,
  });
  return { key: readFileSync(keyFile), cert: readFileSync(caFile), caFile };
}
