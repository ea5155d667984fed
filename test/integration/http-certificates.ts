// Certificates for the TLS tests, made afresh with the openssl command: an authority of our own, and leaves that
// are good, expired or for another name.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

export interface Certificates {
  readonly ca: string;
  readonly good: KeyPair;
  readonly expired: KeyPair;
  readonly selfSigned: KeyPair;
}

export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-tls-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  try {
    openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=test CA');
    const leaf = (name: string, ...dates: string[]): KeyPair => {
      openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
      writeFileSync(join(folder, `${name}.ext`), 'subjectAltName=DNS:good.example,IP:127.0.0.1,IP:127.0.0.3\n');
      writeFileSync(join(folder, 'index.txt'), '');
      writeFileSync(
        join(folder, 'ca.cnf'),
        '[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nrand_serial=yes\nnew_certs_dir=.\ndefault_md=sha256\n' +
          'policy=any\n[any]\ncommonName=supplied\n',
      );
      const signing = ['ca', '-batch', '-config', 'ca.cnf', '-cert', 'ca.pem', '-keyfile', 'ca.key', '-notext'];
      openssl(...signing, '-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', `${name}.ext`, ...dates);
      return { key: read(`${name}.key`), cert: read(`${name}.pem`) };
    };
    const good = leaf('good', '-days', '2');
    const expired = leaf('expired', '-startdate', '20200101000000Z', '-enddate', '20200201000000Z');
    openssl('req', '-x509', ...newKey, '-keyout', 'self.key', '-out', 'self.pem', '-days', '2', '-subj', '/CN=self');
    return { ca: read('ca.pem'), good, expired, selfSigned: { key: read('self.key'), cert: read('self.pem') } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
