package dev.kagzi.engine.namespace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.page.Walk;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class NamespacesTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private final AtomicLong nanos = new AtomicLong();
  private final String name = "ns-" + UUID.randomUUID();
  private final Namespaces namespaces = server(false);

  @Test
  void the_default_namespace_exists_from_the_beginning() {
    assertThat(namespaces.check("default")).isTrue();
    assertThat(namespaces.get("default").displayName()).isEqualTo("Default");
  }

  @Test
  void a_namespace_is_created_once() {
    NamespaceView created = namespaces.create(name, "Name", "What it is for", null, null);

    assertThat(namespaces.get(name)).isEqualTo(created);
    assertThat(created.namespace()).isEqualTo(name);
    assertThat(created.displayName()).isEqualTo("Name");
    assertThat(created.description()).isEqualTo("What it is for");
    assertThat(created.enabled()).isTrue();
    assertThat(namespaces.create(name, "Name", "What it is for", null, null)).isEqualTo(created);
    assertReason(() -> namespaces.create(name, "", "", null, null), Refusal.Reason.ALREADY_EXISTS);
  }

  @Test
  void an_update_changes_only_the_fields_that_it_sets() {
    namespaces.create(name, "Name", "Description", null, null);

    namespaces.update(name, new NamespaceUpdate(null, "Other", false, null, false), null);
    assertThat(namespaces.get(name).displayName()).isEqualTo("Name");
    assertThat(namespaces.get(name).description()).isEqualTo("Other");

    NamespaceView updated =
        namespaces.update(name, new NamespaceUpdate("", null, false, null, false), null);
    assertThat(updated.displayName()).isEmpty();
    assertThat(updated.description()).isEqualTo("Other");
    assertThat(updated).isEqualTo(namespaces.get(name));
  }

  @Test
  void a_missing_namespace_is_not_found() {
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> namespaces.get(name),
            () -> namespaces.update(name, new NamespaceUpdate(null, "y", false, null, false), null),
            () -> namespaces.setEnabled(name, true, null),
            () -> namespaces.setEnabled(name, false, null),
            () -> namespaces.check(name),
            () -> namespaces.requireEnabled(name))) {
      assertReason(call, Refusal.Reason.NOT_FOUND);
    }
  }

  @Test
  void bad_names_are_refused() {
    Namespaces creating = server(true);
    for (String bad : List.of("", "a\u0000", "a\nb", "\ud800", "x".repeat(201))) {
      assertReason(
          () -> namespaces.create(bad, "", "", null, null), Refusal.Reason.INVALID_ARGUMENT);
      assertReason(() -> namespaces.get(bad), Refusal.Reason.INVALID_ARGUMENT);
      assertReason(() -> namespaces.setEnabled(bad, false, null), Refusal.Reason.INVALID_ARGUMENT);
      assertReason(() -> creating.check(bad), Refusal.Reason.INVALID_ARGUMENT);
    }
    assertReason(
        () -> namespaces.create(name, "x\u0000", "", null, null), Refusal.Reason.INVALID_ARGUMENT);
    assertReason(
        () -> namespaces.create(name, "", "x".repeat(5_000), null, null),
        Refusal.Reason.INVALID_ARGUMENT);
  }

  @Test
  void a_server_that_disables_a_namespace_knows_it_at_once() {
    namespaces.create(name, "", "", null, null);
    namespaces.requireEnabled(name);

    assertThat(namespaces.setEnabled(name, false, null).enabled()).isFalse();
    assertThat(namespaces.check(name)).isFalse();
    assertReason(() -> namespaces.requireEnabled(name), Refusal.Reason.FAILED_PRECONDITION);

    assertThat(namespaces.setEnabled(name, true, null).enabled()).isTrue();
    namespaces.requireEnabled(name);
  }

  @Test
  void an_unknown_name_is_created_if_auto_create_is_on() {
    Namespaces creating = server(true);

    assertThat(creating.check(name)).isTrue();
    assertThat(namespaces.check(name)).isTrue();
    assertThat(namespaces.get(name).enabled()).isTrue();
  }

  @Test
  void auto_create_does_not_enable_a_disabled_namespace() {
    namespaces.create(name, "", "", null, null);
    namespaces.setEnabled(name, false, null);

    assertThat(server(true).check(name)).isFalse();
  }

  @Test
  void many_servers_create_one_namespace_together() throws Exception {
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Boolean>> checks = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        Namespaces server = server(true);
        checks.add(callers.submit(() -> server.check(name)));
      }
      for (Future<Boolean> check : checks) {
        assertThat(check.get(10, TimeUnit.SECONDS)).isTrue();
      }
    }
  }

  @Test
  void a_check_of_a_cached_name_sends_no_query() {
    try (Database own = Database.open(database.config())) {
      Namespaces server =
          new Namespaces(own, Limits.DEFAULT, false, (n, on) -> {}, n -> {}, nanos::get);
      server.check("default");
      long before = own.metrics().statements();

      for (int i = 0; i < 1_000_000; i++) {
        server.check("default");
      }

      assertThat(own.metrics().statements()).isEqualTo(before);
    }
  }

  @Test
  void a_busy_server_learns_within_a_second_what_another_changed_by_one_query() {
    namespaces.create(name, "", "", null, null);
    try (Database own = Database.open(database.config())) {
      Namespaces busy =
          new Namespaces(own, Limits.DEFAULT, false, (n, on) -> {}, n -> {}, nanos::get);
      busy.check(name);
      busy.check("default");
      namespaces.setEnabled(name, false, null);
      long before = own.metrics().statements();
      assertThat(busy.check(name)).isTrue();

      nanos.addAndGet(1_000_000_000L);
      // No caller waits; the answer changes when the refresh has finished.
      await().atMost(10, TimeUnit.SECONDS).until(() -> !busy.check(name));

      assertThat(own.metrics().statements()).isEqualTo(before + 1);
      assertThat(busy.check("default")).isTrue();
    }
  }

  @Test
  void a_server_that_was_idle_refreshes_before_it_answers() {
    namespaces.create(name, "", "", null, null);
    Namespaces idle = server(false);
    assertThat(idle.check(name)).isTrue();
    namespaces.setEnabled(name, false, null);

    nanos.addAndGet(60_000_000_000L);

    assertThat(idle.check(name)).isFalse();
  }

  @Test
  void without_the_database_cached_entries_stay() {
    Database lost = Database.open(database.config());
    Namespaces server =
        new Namespaces(lost, Limits.DEFAULT, false, (n, on) -> {}, n -> {}, nanos::get);
    server.check("default");
    lost.close();

    nanos.addAndGet(60_000_000_000L);

    assertThat(server.check("default")).isTrue();
  }

  @Test
  void namespaces_are_paged_by_name() {
    Set<String> stored = new HashSet<>();
    for (int i = 0; i < 45; i++) {
      stored.add(namespaces.create("walk-" + UUID.randomUUID(), "", "", null, null).namespace());
    }
    Random random = new Random(5);
    Walk<NamespaceView> walk =
        new Walk<>(
            namespaces::list,
            () -> random.nextInt(1, 9),
            () -> namespaces.create("walk-" + UUID.randomUUID(), "", "", null, null));

    List<NamespaceView> forward = walk.forward();
    List<NamespaceView> lastPage = walk.last().items();
    List<NamespaceView> backward = walk.backward();
    backward.addAll(lastPage);
    List<NamespaceView> all = new Walk<>(namespaces::list, () -> 100, () -> {}).forward();

    for (List<NamespaceView> seen : List.of(forward, backward)) {
      assertThat(seen.stream().map(NamespaceView::namespace))
          .doesNotHaveDuplicates()
          .containsAll(stored);
      assertThat(all).containsSubsequence(seen);
    }
    assertThat(namespaces.list(new PageSpec(1, "", true, false)).totalCount())
        .isEqualTo(all.size());
  }

  private Namespaces server(boolean autoCreate) {
    return new Namespaces(
        database.open(), Limits.DEFAULT, autoCreate, (n, on) -> {}, n -> {}, nanos::get);
  }

  private static void assertReason(ThrowingCallable call, Refusal.Reason reason) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(call)
        .satisfies(refusal -> assertThat(refusal.reason()).isEqualTo(reason));
  }
}
