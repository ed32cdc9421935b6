"""A network policy with something of everything."""

from studio.domain.network import AuthorityInfo, MirrorInfo, NetworkReport, ProxyInfo

REPORT = NetworkReport(
    offline=False,
    proxies=(
        ProxyInfo(scheme="https", url="http://proxy.test:3128", has_password=True, source="pip"),
    ),
    no_proxy=("a.test", "10.0.0.0/8"),
    authorities=(
        AuthorityInfo(path="/etc/company.pem", source="SSL_CERT_FILE"),
        AuthorityInfo(path="/gone.pem", source="pip", problem="it does not exist"),
    ),
    client_certificate="/me.pem",
    mirrors=(MirrorInfo(of="https://a.test/", at="https://b.test/", source="WEIR_PYTHON_MIRROR"),),
    package_index="https://index.test/simple",
    package_extra_indexes=("https://more.test/simple",),
    package_folders=("/mnt/wheels",),
    connections=4,
    connect_s=10.0,
    stall_s=30.0,
    tries=5,
    user_agent="weir-studio/0.1.0",
    settings_file="/home/me/network.json",
    downloads_folder="/home/me/cache/downloads",
    notes=("A note.",),
)
