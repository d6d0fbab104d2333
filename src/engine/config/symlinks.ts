/**
 * Whether symbolic links are made, or files that hold their targets (core.symlinks).
 */
import type { Config } from './config.ts';
import type { Environment } from './environment.ts';

/**
 * What core.symlinks says, or git's own default: links everywhere but on Windows, where few accounts may make them and only
 * MSYS=winsymlinks:nativestrict says that this one does.
 * @throws CheckoutError config-invalid
 */
export function makesLinks(config: Config, environment: Environment, platform: NodeJS.Platform): boolean {
  const configured = config.getBool('core.symlinks');
  if (configured !== undefined || platform !== 'win32') return configured ?? true;
  return environment['MSYS']?.includes('winsymlinks:nativestrict') === true;
}
