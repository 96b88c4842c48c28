package interop;

import java.util.List;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;

/**
 * How the client connects: the one argument of the program.
 *
 * @param addresses one server, or nodes of a Cluster
 * @param isCluster which of the two
 * @param watchdogMs the lease of a lock that is taken without one; null for Redisson's own
 * @param namePrefix put before every name by a name mapper; null for no mapper
 */
public record Settings(List<String> addresses, boolean isCluster, Long watchdogMs, String namePrefix) {

  /** Few threads: the tests start several of these on small machines. */
  private static final int THREADS = 4;

  private static final int CONNECTIONS = 16;
  private static final int IDLE_CONNECTIONS = 2;

  Config toConfig() {
    Config config = new Config();
    config.setThreads(THREADS);
    config.setNettyThreads(THREADS);
    if (watchdogMs != null) {
      config.setLockWatchdogTimeout(watchdogMs);
    }
    BaseConfig<?> servers = isCluster ? cluster(config) : single(config);
    if (namePrefix != null) {
      NamePrefix.setOn(servers, namePrefix);
    }
    return config;
  }

  private BaseConfig<?> single(Config config) {
    return config
        .useSingleServer()
        .setAddress(addresses.get(0))
        .setConnectionPoolSize(CONNECTIONS)
        .setConnectionMinimumIdleSize(IDLE_CONNECTIONS);
  }

  private BaseConfig<?> cluster(Config config) {
    return config
        .useClusterServers()
        .addNodeAddress(addresses.toArray(String[]::new))
        .setMasterConnectionPoolSize(CONNECTIONS)
        .setMasterConnectionMinimumIdleSize(IDLE_CONNECTIONS);
  }
}
