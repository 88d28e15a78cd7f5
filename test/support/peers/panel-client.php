<?php
// Does what customers' programs do with a provider, in the form of the class that panels hand out: one method for each
// action, a form for each call, and an old user agent. Reads calls as JSON lines on stdin: [method, argument…]. Writes the
// reply to each as one line. PHP 8 without curl.

class Api
{
    public $api_url;
    public $api_key;

    public function __construct(string $url, string $key)
    {
        $this->api_url = $url;
        $this->api_key = $key;
    }

    public function order($data)
    {
        return $this->connect(array_merge(['action' => 'add'], (array) $data));
    }

    public function status($order_id)
    {
        return $this->connect(['action' => 'status', 'order' => $order_id]);
    }

    public function multiStatus($order_ids)
    {
        return $this->connect(['action' => 'status', 'orders' => implode(',', (array) $order_ids)]);
    }

    public function services()
    {
        return $this->connect(['action' => 'services']);
    }

    public function refill(int $order_id)
    {
        return $this->connect(['action' => 'refill', 'order' => $order_id]);
    }

    public function multiRefill(array $order_ids)
    {
        return $this->connect(['action' => 'refill', 'orders' => implode(',', $order_ids)]);
    }

    public function refillStatus(int $refill_id)
    {
        return $this->connect(['action' => 'refill_status', 'refill' => $refill_id]);
    }

    public function cancel(array $order_ids)
    {
        return $this->connect(['action' => 'cancel', 'orders' => implode(',', $order_ids)]);
    }

    public function balance()
    {
        return $this->connect(['action' => 'balance']);
    }

    private function connect(array $post)
    {
        $pairs = [];
        foreach (['key' => $this->api_key] + $post as $name => $value) {
            $pairs[] = $name . '=' . urlencode((string) $value);
        }
        $context = stream_context_create(['http' => [
            'method' => 'POST',
            'header' => 'Content-Type: application/x-www-form-urlencoded',
            'user_agent' => 'Mozilla/4.0 (compatible; MSIE 5.01; Windows NT 5.0)',
            'content' => join('&', $pairs),
            'ignore_errors' => true,
        ]]);
        return json_decode(file_get_contents($this->api_url, false, $context));
    }
}

$api = new Api($argv[1], trim(fgets(STDIN)));
while (($line = fgets(STDIN)) !== false) {
    [$method, $arguments] = [json_decode($line)[0], array_slice(json_decode($line), 1)];
    echo json_encode($api->$method(...$arguments)), "\n";
}
