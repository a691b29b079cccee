import type { Profile } from '../types';
import type { KeyEntry, KeyScope } from '../generated/schema';
import { Refusal, type Routes } from './routes';

/** The host itself: status, checks, keys, profiles. */
export function hostRoutes(): Routes {
  const keys = new Map<string, KeyEntry>();
  const profiles = new Map<string, Profile>([
    [
      'balanced',
      {
        name: 'balanced',
        description: 'For most machines: a shrink after every 32 requests.',
        built_in: true,
        options: { shrink_every: 32 } as Profile['options'],
        reasons: { shrink_every: 'keeps slack small without a cost that can be measured' },
      },
    ],
    [
      'low-memory',
      {
        name: 'low-memory',
        description: 'Holds little more than the weights between requests; somewhat slower.',
        built_in: true,
        options: {
          shrink_every: 1,
          session_options: { 'session.enable_mem_pattern': '0' },
        } as unknown as Profile['options'],
        reasons: { 'session.enable_mem_pattern': 'every shape that was seen would keep an entry' },
      },
    ],
  ]);
  return {
    'GET /ebb/v1/status': () => ({
      running: true,
      url: 'http://127.0.0.1:4770',
      pid: 4711,
      version: '0.1.0',
      uptime_ms: 60_000,
      resident_bytes: 34 * 1024 * 1024,
      models: [],
      coming_back: [],
    }),
    'GET /ebb/v1/doctor': () => ({
      checks: [
        { name: 'library', state: 'ok', found: 'ONNX Runtime 1.31.1', hint: null },
        { name: 'provider.cuda', state: 'missing', found: 'no CUDA device', hint: 'models run on the CPU' },
      ],
    }),
    'GET /ebb/v1/keys': () => ({ keys: [...keys.values()] }),
    'POST /ebb/v1/keys': ({ body }) => {
      const { name, scopes } = body as { name: string; scopes: KeyScope[] };
      if (keys.has(name))
        throw new Refusal(409, 'conflict', `there is a key '${name}'`, 'choose another name', 'name');
      keys.set(name, { name, scopes, created_at_ms: Date.now() });
      return { name, scopes, key: 'ebb-0123456789abcdef' };
    },
    'DELETE /ebb/v1/keys/{name}': ({ path }) => {
      const key = keys.get(path.name ?? '');
      keys.delete(path.name ?? '');
      return key;
    },
    'GET /ebb/v1/profiles': () => ({ profiles: [...profiles.values()] }),
    'PUT /ebb/v1/profiles/{name}': ({ path, body }) => {
      profiles.set(path.name ?? '', { ...(body as Profile), built_in: false });
      return profiles.get(path.name ?? '');
    },
    'DELETE /ebb/v1/profiles/{name}': ({ path }) => {
      const profile = profiles.get(path.name ?? '');
      if (profile?.built_in) throw new Refusal(409, 'conflict', 'a built-in profile cannot be removed');
      profiles.delete(path.name ?? '');
      return profile;
    },
  };
}
