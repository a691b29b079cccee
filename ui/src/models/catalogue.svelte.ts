import { ApiError, api, done } from '../api';
import type { Profile } from '../api';
import { type Field, catalogueFields } from './fields';

/** What options and profiles there are. Asked anew whenever a load dialog opens; what was known is shown meanwhile. */
class Catalogue {
  fields = $state.raw<Field[]>([]);
  profiles = $state.raw<Profile[]>([]);
  error = $state.raw<ApiError | null>(null);

  async refresh(): Promise<void> {
    try {
      const [options, profiles] = await Promise.all([
        done(api.GET('/ebb/v1/options')),
        done(api.GET('/ebb/v1/profiles')),
      ]);
      this.fields = catalogueFields(options.options);
      this.profiles = profiles.profiles;
      this.error = null;
    } catch (thrown) {
      this.error = ApiError.from(thrown);
    }
  }

  async refreshProfiles(): Promise<void> {
    this.profiles = (await done(api.GET('/ebb/v1/profiles'))).profiles;
  }
}

export const catalogue = new Catalogue();
