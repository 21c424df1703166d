package dev.kagzi.torture;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Stream;

/**
 * All processes of a torture test (PostgreSQL, servers, workers) and the links between them. Every
 * connection between two of them goes through a link, and so do the client's.
 */
final class Fleet implements AutoCloseable {
  private static final Duration DUMP_TIME = Duration.ofSeconds(1);
  private static final Executor START = task -> Thread.ofVirtual().name("start").start(task);

  private final Database database;
  private final List<Node> servers = new ArrayList<>();
  private final List<Node> workers = new ArrayList<>();
  private final List<Link> toServers = new ArrayList<>();
  private final List<Link> clientLinks;
  private final List<Link> otherClientLinks;

  /**
   * A process and the links through which it connects to others.
   *
   * @param links of a server: to PostgreSQL and its standby; of a worker: to each server
   */
  record Node(JavaProcess process, List<Link> links) {
    Node {
      links = List.copyOf(links);
    }
  }

  private Fleet(Path folder, Database database, int serverCount, int workerCount) {
    this.database = database;
    for (int i = 1; i <= serverCount; i++) {
      servers.add(server("server-" + i, folder));
    }
    for (int i = 1; i <= workerCount; i++) {
      workers.add(worker("worker-" + i, i, folder));
    }
    this.clientLinks = links();
    this.otherClientLinks = links();
  }

  static Fleet start(Path folder, int serverCount, int workerCount) {
    return start(folder, Database.start(folder.resolve("postgres")), serverCount, workerCount);
  }

  /** Like {@link #start}, with a synchronous standby of PostgreSQL. */
  static Fleet startWithStandby(Path folder, int serverCount, int workerCount) {
    Database database =
        Database.startWithStandby(folder.resolve("postgres"), folder.resolve("standby"));
    return start(folder, database, serverCount, workerCount);
  }

  private static Fleet start(Path folder, Database database, int serverCount, int workerCount) {
    Fleet fleet = new Fleet(folder, database, serverCount, workerCount);
    try {
      for (int i = 0; i < serverCount; i++) {
        fleet.startServer(i);
      }
      fleet.startWorkers();
      return fleet;
    } catch (RuntimeException e) {
      fleet.close();
      throw e;
    }
  }

  private Node server(String name, Path folder) {
    List<Link> links = new ArrayList<>();
    for (int port : database.ports()) {
      Link link = new Link();
      link.to(port);
      links.add(link);
    }
    Map<String, String> environment =
        Map.of(
            "KAGZI_DB_URL", Database.url(links.stream().map(Link::port).toList()),
            "KAGZI_DB_USER", database.user(),
            "KAGZI_DB_PASSWORD", database.password());
    return new Node(new JavaProcess(name, ServerMain.class, environment, folder), links);
  }

  private Node worker(String name, int number, Path folder) {
    List<Link> links = links();
    Map<String, String> environment =
        Map.of(
            WorkerMain.ADDRESSES, addresses(links, number), WorkerMain.LEDGERS, folder.toString());
    return new Node(new JavaProcess(name, WorkerMain.class, environment, folder), links);
  }

  /** Creates one link to each server. */
  private List<Link> links() {
    List<Link> links = Stream.generate(Link::new).limit(servers.size()).toList();
    toServers.addAll(links);
    return links;
  }

  /**
   * Returns the addresses of all servers, from index {@code first} on, so that processes prefer
   * different servers.
   */
  private static String addresses(List<Link> links, int first) {
    List<String> addresses = new ArrayList<>();
    for (int i = 0; i < links.size(); i++) {
      addresses.add(links.get((first + i) % links.size()).address());
    }
    return String.join(",", addresses);
  }

  private void startWorkers() {
    CompletableFuture.allOf(
            workers.stream()
                .map(worker -> CompletableFuture.runAsync(worker.process::start, START))
                .toArray(CompletableFuture<?>[]::new))
        .join();
  }

  /** Starts a server and points all links for it to its new port. */
  void startServer(int index) {
    int port = Integer.parseInt(servers.get(index).process.start());
    for (int i = index; i < toServers.size(); i += servers.size()) {
      toServers.get(i).to(port);
    }
  }

  /** Restarts PostgreSQL and points the servers' links to it. */
  void restartDatabase() {
    database.restart();
    servers.forEach(server -> server.links.forEach(link -> link.to(database.port())));
  }

  Database database() {
    return database;
  }

  List<Node> servers() {
    return servers;
  }

  List<Node> workers() {
    return workers;
  }

  /** The server addresses for the client. */
  String clientAddresses() {
    return addresses(clientLinks, 0);
  }

  /** The server addresses for a client that prefers another server. */
  String otherClientAddresses() {
    return addresses(otherClientLinks, 1);
  }

  /** The server that the client uses now. */
  int serverOfClient() {
    for (int i = 0; i < clientLinks.size(); i++) {
      if (clientLinks.get(i).isInUse()) {
        return i;
      }
    }
    return 0;
  }

  /** A worker that uses the same server as the client, and so gets most of its runs. */
  int workerOfClient() {
    int server = serverOfClient();
    for (int i = 0; i < workers.size(); i++) {
      if (workers.get(i).links.get(server).isInUse()) {
        return i;
      }
    }
    return 0;
  }

  /** The names of processes that have ended without being killed. */
  List<String> endedUnexpectedly() {
    return Stream.concat(servers.stream(), workers.stream())
        .map(Node::process)
        .filter(JavaProcess::hasEndedUnexpectedly)
        .map(JavaProcess::name)
        .toList();
  }

  /** Makes all processes print thread dumps, because something hangs. */
  void dumpThreads() {
    Stream.concat(servers.stream(), workers.stream())
        .map(Node::process)
        .filter(JavaProcess::isAlive)
        .forEach(process -> process.signal(UnixSignal.QUIT));
    Pause.ofUnchecked(DUMP_TIME);
  }

  /** Ends servers and workers, so that nothing more is written. */
  void stopPrograms() {
    workers.forEach(worker -> worker.process.close());
    servers.forEach(server -> server.process.close());
  }

  @Override
  public void close() {
    stopPrograms();
    toServers.forEach(Link::close);
    servers.forEach(server -> server.links.forEach(Link::close));
    database.close();
  }
}
