import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Public } from '../../auth/access.decorators';
import { SigningKeys } from '../../auth/signing-keys';
import { ApiResource } from '../../conventions/docs/api.decorators';
import { Verbatim } from '../../conventions/responses/envelope';

@ApiResource('Tokens')
@Controller('.well-known/jwks.json')
@Public({ identifies: false })
export class KeysController {
  constructor(private readonly keys: SigningKeys) {}

  /** The public keys of the access tokens, as RFC 7517 has it, for services that verify them themselves. */
  @Get()
  @ApiOkResponse({ description: 'OK' })
  list(): Verbatim {
    return new Verbatim(this.keys.jwks());
  }
}
