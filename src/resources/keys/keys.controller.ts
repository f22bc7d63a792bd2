import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { ApiResource, Public, Verbatim } from '../../platform';
import { SigningKeys } from '../../platform/accounts';
import { KeySetDto } from './key.dto';

@ApiResource('Keys', 'For services that verify access tokens themselves.')
@Controller('.well-known/jwks.json')
@Public({ identifies: false })
export class KeysController {
  constructor(private readonly keys: SigningKeys) {}

  /**
   * Lists the public keys of the access tokens.
   * @remarks A JSON Web Key Set (RFC 7517), for services that verify tokens themselves. It has no envelope. It is empty
   * when the service signs with a shared secret.
   */
  @Get()
  @ApiOkResponse({ description: 'OK', type: KeySetDto })
  list(): Verbatim {
    return new Verbatim(this.keys.jwks());
  }
}
