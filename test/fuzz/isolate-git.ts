/**
 * Nothing of the user's configuration is seen by git or by us, and persons and times of commits are always the same. The
 * test support's own isolation needs a test runner; this one is for a program.
 */
import { join } from 'node:path';

export function isolateGit(home: string): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('GIT_') && name !== 'GIT_EXEC_PATH') Reflect.deleteProperty(process.env, name);
  }
  Object.assign(process.env, {
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'xdg'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A U Thor',
    GIT_AUTHOR_EMAIL: 'author@example.com',
    GIT_AUTHOR_DATE: '1700000000 +0000',
    GIT_COMMITTER_NAME: 'C O Mitter',
    GIT_COMMITTER_EMAIL: 'committer@example.com',
    GIT_COMMITTER_DATE: '1700000000 +0000',
    // For commands in a case, which names no place of this machine.
    FUZZ_NODE: process.execPath,
    FUZZ_DRIVER: join(import.meta.dirname, '..', 'support', 'filter-driver.js'),
    // status must not rewrite the index that we are about to look at.
    GIT_OPTIONAL_LOCKS: '0',
    LC_ALL: 'C',
    TZ: 'UTC',
  });
}
