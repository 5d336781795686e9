export class PublishOption {
  accepted() {}

  set() {}
}
