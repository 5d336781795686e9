/// Vonage's package for iOS has this product, and its module `OpenTok` has the names. Programs import either.
@_exported import OpenTok
