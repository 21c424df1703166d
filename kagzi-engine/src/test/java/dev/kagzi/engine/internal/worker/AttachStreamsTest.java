package dev.kagzi.engine.internal.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.internal.notification.ServerMessage;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.AttachListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class AttachStreamsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private final List<Runnable> stores = new ArrayList<>();
  private final List<String> drained = new ArrayList<>();

  @Test
  @SuppressWarnings("NullAway") // Only a broken stream uses the recovery.
  void a_later_stream_of_a_worker_stays_if_it_is_stored_before_an_earlier_one() {
    try (TestEngine engine = TestEngine.start(database.config(), "q");
        AttachStreams streams =
            new AttachStreams(
                database.open(),
                new WorkerCache(database.open(), Runnable::run),
                null,
                1_000,
                stores::add,
                Executors.newSingleThreadScheduledExecutor())) {
      WorkerId worker = engine.register();
      streams.open(TestEngine.NAMESPACE, worker, new Listener("earlier"));
      streams.open(TestEngine.NAMESPACE, worker, new Listener("later"));

      stores.get(1).run();
      String later = attachId(worker);
      stores.get(0).run();

      assertThat(attachId(worker)).isEqualTo(later);
      assertThat(streams.send(new ServerMessage.Drain(worker))).isTrue();
      assertThat(drained).containsExactly("later");
    }
  }

  private static String attachId(WorkerId worker) {
    return new Stored(database)
        .text(
            "SELECT attach_id::text AS value FROM kagzi.workers WHERE worker_id = '%s'"
                .formatted(worker));
  }

  private final class Listener implements AttachListener {
    private final String name;

    Listener(String name) {
      this.name = name;
    }

    @Override
    public void attached() {}

    @Override
    public void stop(List<Claim> claims, RunStatus status) {}

    @Override
    public void stepEnded(List<Claim> claims) {}

    @Override
    public void cancelRequested(List<Claim> claims) {}

    @Override
    public void drain() {
      drained.add(name);
    }

    @Override
    public void closed(Refusal why) {}
  }
}
