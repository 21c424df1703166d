package dev.kagzi.engine.notice;

/** How a server tells the others. Telling never blocks and never fails. */
public interface Notifier extends AutoCloseable {
  /** Tells the other servers; this one knows already. */
  void tell(Notice notice);

  /** Whether there is anybody to tell. */
  void alone(boolean alone);

  @Override
  void close();

  /** For a server that is certainly the only one. */
  Notifier NONE =
      new Notifier() {
        @Override
        public void tell(Notice notice) {}

        @Override
        public void alone(boolean alone) {}

        @Override
        public void close() {}
      };
}
