package dev.kagzi.torture;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The processes of the bank: two databases, servers, and workers that also relay the outbox. Every
 * connection between two of them, and every connection of the tellers, goes through a link.
 * Thread-safe. A caller that kills a database holds its lock until it is restarted. Only one thread
 * at a time starts or kills a given server or worker.
 */
final class BankFleet implements AutoCloseable {
  private final Database kagzi;
  private final Database bank;
  private final List<Server> servers = new ArrayList<>();
  private final List<Worker> workers = new ArrayList<>();
  private final Link tellersToKagzi = new Link();
  private final Link tellersToBank = new Link();
  private final List<Link> tellersToServers;

  record Server(JavaProcess process, Link toDatabase) {}

  record Worker(JavaProcess process, List<Link> toServers, Link toBank) {
    Worker {
      toServers = List.copyOf(toServers);
    }
  }

  BankFleet(Path folder, int serverCount, int workerCount, BankPlant plant) {
    Path databases = folder.resolve("postgres");
    this.kagzi = Database.start(databases.resolve("kagzi"));
    this.bank = Database.start(databases.resolve("bank"));
    for (int i = 1; i <= serverCount; i++) {
      servers.add(server("server-" + i, folder));
    }
    for (int i = 1; i <= workerCount; i++) {
      workers.add(worker("worker-" + i, folder, plant));
    }
    this.tellersToServers = linkForEachServer();
    pointTo(kagzi);
    pointTo(bank);
  }

  private Server server(String name, Path folder) {
    Link link = new Link();
    Map<String, String> environment =
        Map.of(
            "KAGZI_DB_URL", Database.url(List.of(link.port())),
            "KAGZI_DB_USER", kagzi.user(),
            "KAGZI_DB_PASSWORD", kagzi.password());
    return new Server(new JavaProcess(name, ServerMain.class, environment, folder), link);
  }

  private Worker worker(String name, Path folder, BankPlant plant) {
    List<Link> toServers = linkForEachServer();
    Link toBank = new Link();
    Map<String, String> environment =
        Map.of(
            BankWorkerMain.ADDRESSES, addresses(toServers),
            BankWorkerMain.BANK_URL, Database.url(List.of(toBank.port())),
            BankWorkerMain.BANK_USER, bank.user(),
            BankWorkerMain.BANK_PASSWORD, bank.password(),
            BankWorkerMain.PLANT, plant.name());
    return new Worker(
        new JavaProcess(name, BankWorkerMain.class, environment, folder), toServers, toBank);
  }

  private List<Link> linkForEachServer() {
    return Stream.generate(Link::new).limit(servers.size()).toList();
  }

  private static String addresses(List<Link> links) {
    return links.stream().map(Link::address).collect(Collectors.joining(","));
  }

  private void pointTo(Database database) {
    int port = database.port();
    if (database.equals(kagzi)) {
      servers.forEach(server -> server.toDatabase.to(port));
      tellersToKagzi.to(port);
    } else {
      workers.forEach(worker -> worker.toBank.to(port));
      tellersToBank.to(port);
    }
  }

  void startServer(int index) {
    int port = Integer.parseInt(servers.get(index).process.start());
    workers.forEach(worker -> worker.toServers.get(index).to(port));
    tellersToServers.get(index).to(port);
  }

  void startAll() {
    for (int i = 0; i < servers.size(); i++) {
      startServer(i);
    }
    workers.parallelStream().forEach(worker -> worker.process.start());
  }

  /** Starts a database again after it was killed. */
  void restart(Database database) {
    database.restart();
    pointTo(database);
  }

  Database kagzi() {
    return kagzi;
  }

  Database bank() {
    return bank;
  }

  List<Server> servers() {
    return servers;
  }

  List<Worker> workers() {
    return workers;
  }

  /** The link of the tellers to the database of the servers. */
  Link tellersToKagzi() {
    return tellersToKagzi;
  }

  /** The link of the tellers to the database of the bank. */
  Link tellersToBank() {
    return tellersToBank;
  }

  String serverAddresses() {
    return addresses(tellersToServers);
  }

  private Stream<JavaProcess> processes() {
    return Stream.concat(
        workers.stream().map(Worker::process), servers.stream().map(Server::process));
  }

  /** The names of processes that have ended without being killed. */
  List<String> endedUnexpectedly() {
    return processes().filter(JavaProcess::hasEndedUnexpectedly).map(JavaProcess::name).toList();
  }

  /** Ends servers and workers, so that nothing more is written. */
  void stopPrograms() {
    processes().forEach(JavaProcess::close);
  }

  @Override
  public void close() {
    stopPrograms();
    tellersToKagzi.close();
    tellersToBank.close();
    tellersToServers.forEach(Link::close);
    servers.forEach(server -> server.toDatabase.close());
    workers.forEach(worker -> worker.toServers.forEach(Link::close));
    workers.forEach(worker -> worker.toBank.close());
    kagzi.close();
    bank.close();
  }
}
